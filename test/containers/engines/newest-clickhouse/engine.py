"""The engine of PyPI's chdb-core for session.mjs: requests are JSON lines on fd 0; answers, on fd 3, a JSON line and bytes."""

import ctypes, json, os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

import chdb._chdb as chdb

directory, options, profile = sys.argv[1], sys.argv[2], os.environ.get("CLICKHOUSE_PROFILE")
# It ends with the process that it stands in for, however that ends.
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
answers, lock, sessions = os.fdopen(3, "wb"), threading.Lock(), {}


def start():
    deadline = time.monotonic() + 10
    while True:
        try:
            return chdb.connect(f"{directory}?{options}")
        except RuntimeError:
            # The one before may not have left the folder yet.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def session(number):
    if number not in sessions:
        sessions[number] = chdb.connect(directory)
        if profile:
            sessions[number].query(f"SET {profile}", "CSV")
    return sessions[number]


def answer(request):
    data, head = b"", {"id": request["id"]}
    try:
        result = session(request["session"]).query(request["sql"], request["format"])
        data = result.bytes() or b""
        head |= {"rowsRead": result.rows_read(), "bytesRead": result.bytes_read(), "elapsed": result.elapsed()}
    except RuntimeError as error:
        head["error"] = str(error)
    with lock:
        answers.write(json.dumps(head | {"length": len(data)}).encode() + b"\n" + data)
        answers.flush()


engine = start()
with ThreadPoolExecutor(16) as pool:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "sql" in request:
            pool.submit(answer, request)
        elif request["session"] in sessions:
            sessions.pop(request["session"]).close()

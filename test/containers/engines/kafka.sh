#!/usr/bin/env bash
# As the official image does: KAFKA_A_B=c becomes the property a.b=c, and an empty volume is formatted.
set -euo pipefail
env | sed -n 's/^KAFKA_\([A-Z_]*\)=\(.*\)/\1 \2/p' | while read -r name value; do
  echo "$(tr 'A-Z_' 'a-z.' <<< "$name")=$value"
done > /tmp/server.properties
run=(java -Xmx512m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/kafka/libs/*')
"${run[@]}" kafka.tools.StorageTool format --ignore-formatted --cluster-id 5L6g3nShT-eMCtK--X86sw \
  --config /tmp/server.properties
exec "${run[@]}" kafka.Kafka /tmp/server.properties

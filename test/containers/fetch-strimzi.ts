/** fetch-strimzi.ts FOLDER: what writes the definitions of Strimzi's resources. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaJars } from '../../services/launcher/engines/kafka/kafka-jars.ts';

const JARS = Object.entries({
  api: '566961ae5e5646a001ae91312beda5cba3a5d467e740e205e1b761754335fe4e',
  'crd-generator': '76bb2430e702a1e6a24c071d26c865d5e9572cbc630d176d3b912033ae23ed00',
  'crd-annotations': '00963443b04dbb28397f56798adbe97be0a37686a2e6884e69e54117657208a9',
}).map(([name, digest]) => {
  const file = `${name}-1.2.0.jar`;
  return { path: `io/strimzi/${name}/1.2.0/${file}`, file, digest };
});
const folder = process.argv[2]!;
mkdirSync(folder, { recursive: true });
const context = { env: process.env, dataDir: folder, progress: (line: string) => console.log(line) };
const fetched = await kafkaJars(context, JARS);
for (const { file } of JARS) cpSync(join(fetched.folder, file), join(folder, file));

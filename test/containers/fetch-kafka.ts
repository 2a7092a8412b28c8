/** fetch-kafka.ts FOLDER: Kafka's jars, as `npm start` fetches them, and one more that the health check needs. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaJars, pinnedJars } from '../../services/launcher/engines/kafka/kafka-jars.ts';

const TOOLS = {
  path: 'org/apache/kafka/kafka-tools/4.4.0/kafka-tools-4.4.0.jar',
  file: 'kafka-tools-4.4.0.jar',
  digest: '4eb9a7fbfd63badfd8d1a677aa2d54b47b2b2d442ff7d68fd223972afea1954c',
};
const folder = process.argv[2]!;
for (const jars of [pinnedJars(), [TOOLS]]) {
  const progress = (line: string) => {
    if (!jars.includes(TOOLS)) console.log(line);
  };
  const fetched = await kafkaJars({ env: process.env, dataDir: folder, progress }, jars);
  for (const { file } of jars) cpSync(join(fetched.folder, file), join(folder, file));
}

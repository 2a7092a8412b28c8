/**
 * fetch-jars.ts kafka|strimzi FOLDER, as `npm start` fetches the broker's: Kafka's jars, and one more that the health
 * check needs; or what writes the definitions of Strimzi's resources.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaJars, pinnedJars } from '../../services/launcher/engines/kafka/kafka-jars.ts';

const pin = (group: string, name: string, version: string, digest: string) => {
  const file = `${name}-${version}.jar`;
  return { path: `${group}/${name}/${version}/${file}`, file, digest };
};
const SETS = {
  kafka: [
    pinnedJars(),
    [
      pin(
        'org/apache/kafka',
        'kafka-tools',
        '4.4.0',
        '4eb9a7fbfd63badfd8d1a677aa2d54b47b2b2d442ff7d68fd223972afea1954c',
      ),
    ],
  ],
  strimzi: [
    [
      pin('io/strimzi', 'api', '1.2.0', '566961ae5e5646a001ae91312beda5cba3a5d467e740e205e1b761754335fe4e'),
      pin('io/strimzi', 'crd-generator', '1.2.0', '76bb2430e702a1e6a24c071d26c865d5e9572cbc630d176d3b912033ae23ed00'),
      pin('io/strimzi', 'crd-annotations', '1.2.0', '00963443b04dbb28397f56798adbe97be0a37686a2e6884e69e54117657208a9'),
    ],
  ],
};
const [name, folder] = process.argv.slice(2) as [keyof typeof SETS, string];
mkdirSync(folder, { recursive: true });
for (const jars of SETS[name]) {
  const fetched = await kafkaJars({ env: process.env, dataDir: folder, progress: () => undefined }, jars);
  for (const { file } of jars) cpSync(join(fetched.folder, file), join(folder, file));
}

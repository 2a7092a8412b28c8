import { readdirSync } from 'node:fs';
import { compilePrograms, compileSources } from '../../../services/launcher/compile-sources.ts';

// node compile-children.ts FOLDER: compiles what tests start as processes of their own. Node stores what it compiled
// when a process ends by itself, and most of these are killed: without this, each start would compile everything anew.
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: compile-children.ts FOLDER');
const CHILDREN = 'test/support/children';
const children = readdirSync(`${import.meta.dirname}/../children`).map((file) => `${CHILDREN}/${file}`);
compilePrograms({ nodeArguments: [], entries: ['services/admin/main.ts', ...children] }, folder);
compileSources(folder);

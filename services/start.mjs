// What `npm start` runs. Plain JavaScript: TypeScript as the first file would load Node's type stripper (15 to 40 MB)
// before it is known that everything is compiled already.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// The processes that this one starts inherit the folder.
process.env.NODE_COMPILE_CACHE ||= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('./main.ts');

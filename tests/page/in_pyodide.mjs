// Runs FOLDER/main.py in Pyodide: node in_pyodide.mjs PYODIDE WHEEL FOLDER. The folder is /trial there.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [pyodide, wheel, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
try {
  const python = await loadPyodide();
  python.unpackArchive(new Uint8Array(readFileSync(wheel)), 'wheel');
  python.mountNodeFS('/trial', folder);
  python.runPython('import runpy, sys; sys.path.insert(0, "/trial"); runpy.run_path("/trial/main.py")');
} catch (error) {
  console.error(error.message); // not the line of Pyodide's source, which is a megabyte
  process.exitCode = 1;
}

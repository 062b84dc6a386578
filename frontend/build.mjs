// Bundles the editor into one file that is shipped: users need no node. `make web` runs it.

import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const target = `${here}../src/fabula/web/static`;

const result = await build({
  entryPoints: [`${here}editor/main.js`],
  outfile: `${target}/editor.js`,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  absWorkingDir: here,
});

// What others wrote goes out with their licences.
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
const texts = ["editor.js holds code of these packages.\n"];
for (const name of [...packages].sort()) {
  const { version, license } = JSON.parse(
    await readFile(`${here}node_modules/${name}/package.json`, "utf8"),
  );
  const text = await readFile(`${here}node_modules/${name}/LICENSE`, "utf8");
  texts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
}
await writeFile(`${target}/editor.licences.txt`, texts.join("\n---\n\n"));

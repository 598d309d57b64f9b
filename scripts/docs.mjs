// Writes docs/reference.md from the command table. A test fails when it is out of date.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bundle = path.join(root, 'node_modules', `.reference-${process.pid}.mjs`)
await build({
  entryPoints: [path.join(root, 'src/cli/help/reference.ts')],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  external: ['@photostructure/sqlite'],
  logLevel: 'warning',
})
const { reference } = await import(pathToFileURL(bundle).href)
fs.rmSync(bundle)
fs.writeFileSync(path.join(root, 'docs/reference.md'), reference())

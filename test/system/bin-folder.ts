import fs from 'node:fs'
import path from 'node:path'
import { which } from '../../src/os/which.ts'
import { type TestHome, MAIN } from './test-home.ts'

/** The tools that the product and its shell programs call. */
const TOOLS = [
  'sh',
  'env',
  'setsid',
  'flock',
  'cat',
  'mv',
  'sync',
  'sleep',
  'date',
  'rm',
  'mkdir',
  'touch',
  'tail',
  'true',
]

/**
 * Creates a folder that can be the whole PATH: the usual tools, `oneshot` itself, and programs written as sh scripts.
 */
export function binFolder(
  testHome: TestHome,
  { tools = [], scripts = {} }: { tools?: readonly string[]; scripts?: Readonly<Record<string, string>> } = {},
): string {
  const folder = fs.mkdtempSync(path.join(testHome.root, 'bin-'))
  fs.symlinkSync(process.execPath, path.join(folder, 'node'))
  for (const tool of [...TOOLS, ...tools]) {
    const program = which(tool, process.env, '/')
    if (program !== undefined) fs.symlinkSync(program, path.join(folder, tool))
  }
  const own = { oneshot: `exec '${process.execPath}' '${MAIN}' "$@"`, ...scripts }
  for (const [name, text] of Object.entries(own)) {
    fs.writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  return folder
}

// Writes two files that follow from the commands: docs/reference.md and src/cli/command-index.ts. A test fails when one
// of them is out of date.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const cli = path.join(root, 'src/cli')
const files = findCommandFiles()
const { commands, reference, GROUPS } = await loadCommands()
commands.sort((a, b) => rank(a.command) - rank(b.command))
fs.writeFileSync(path.join(cli, 'command-index.ts'), renderIndex())
fs.writeFileSync(path.join(root, 'docs/reference.md'), reference(commands.map(({ command }) => command)))

/** A command is a file of the folder, or a folder with a file `command.ts`. */
function findCommandFiles() {
  return fs
    .readdirSync(path.join(cli, 'commands'), { withFileTypes: true })
    .map(entry => `./commands/${entry.name}${entry.isDirectory() ? '/command.ts' : ''}`)
    .filter(file => !file.endsWith('.test.ts'))
}

async function loadCommands() {
  const bundle = path.join(root, 'node_modules', `.commands-${process.pid}.mjs`)
  const contents = `
    export { reference } from './help/reference.ts'
    export { GROUPS } from './args/command-definition.ts'
    ${files.map((file, at) => `import { command as command${at} } from '${file}'`).join('\n')}
    export const commands = [${files.map((file, at) => `{ file: '${file}', command: command${at} }`).join(', ')}]`
  await build({
    stdin: { contents, resolveDir: cli, loader: 'ts' },
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    define: { ONESHOT_VERSION: '""' },
    external: ['@photostructure/sqlite'],
    logLevel: 'warning',
  })
  try {
    return await import(pathToFileURL(bundle).href)
  } finally {
    fs.rmSync(bundle)
  }
}

/** Commands of a group stand together; commands without a group, which are for programs, come last. */
function rank({ group, order = 0 }) {
  return (group === null ? GROUPS.length : GROUPS.indexOf(group)) * 1_000 + order
}

function renderIndex() {
  return `import type { CommandEntry } from './context.ts'

/** Every command, in the order of help. \`npm run docs\` generates this file from the commands. Do not edit. */
export const COMMAND_INDEX: readonly CommandEntry[] = [
${commands.map(renderEntry).join('\n')}
]
`
}

function renderEntry({ file, command: { name, aliases, group, summary } }) {
  return `  {
    name: ${quote(name)},${aliases === undefined ? '' : `\n    aliases: [${aliases.map(quote).join(', ')}],`}
    group: ${group === null ? 'null' : quote(group)},
    summary: ${quote(summary)},
    load: async () => (await import('${file}')).command,
  },`
}

function quote(text) {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`
}

import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { VERSION } from '../../lib/version.ts'

export const command: Command = {
  name: 'version',
  group: 'Set-up',
  order: 60,
  summary: 'print the version',
  arguments: [],
  options: [OPTIONS.json],
  examples: [{ argv: ['version', '--json'], description: 'with those of Node and the system' }],
  run: version,
}

async function version(args: ParsedArgs, { screen }: CommandContext): Promise<number> {
  const details = { version: VERSION, node: process.versions.node, system: `${process.platform} ${process.arch}` }
  screen.out.printLine(args.has(OPTIONS.json) ? toJson(details) : VERSION)
  return 0
}

import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { VERSION } from '../../lib/version.ts'

export async function version(args: ParsedArgs, { screen }: CommandContext): Promise<number> {
  const details = { version: VERSION, node: process.versions.node, system: `${process.platform} ${process.arch}` }
  screen.out.printLine(args.has(OPTIONS.json) ? toJson(details) : VERSION)
  return 0
}

import type { ParsedArgs } from '../args/parsed-args.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export async function demo(args: ParsedArgs, { hooks }: CommandContext): Promise<number> {
  return await hooks.demo({ keep: args.has(OPTIONS.keep) })
}

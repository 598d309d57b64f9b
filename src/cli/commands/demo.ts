import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export const command: Command = {
  name: 'demo',
  group: 'Set-up',
  order: 40,
  summary: 'kill agent, supervisor and tmux, and see the work finish',
  arguments: [],
  options: [OPTIONS.keep],
  examples: [{ argv: ['demo'], description: 'real work on the built-in demo agent; no account, no network' }],
  run: demo,
}

async function demo(args: ParsedArgs, { hooks }: CommandContext): Promise<number> {
  return await hooks.demo({ keep: args.has(OPTIONS.keep) })
}

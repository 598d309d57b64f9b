import type { Command } from './command.ts'
import { FOLLOW, LIST, LOG, MESSAGES, STATUS } from './look.ts'
import { RESUME, SEND } from './converse.ts'
import { COMPLETE, COMPLETION, CONFIG, DEMO, HELP, NOTIFY, VERSION_COMMAND } from './set-up.ts'
import { DAEMON, DOCTOR, UPDATE } from './supervisor.ts'
import { ATTACH, CLEAN, KILLALL, RUN, STOP, WAIT } from './work.ts'

/** Every command, in the order help shows them. */
export const COMMANDS: readonly Command[] = [
  RUN,
  SEND,
  RESUME,
  ATTACH,
  STOP,
  KILLALL,
  WAIT,
  CLEAN,
  LIST,
  STATUS,
  LOG,
  FOLLOW,
  MESSAGES,
  DAEMON,
  DOCTOR,
  UPDATE,
  CONFIG,
  NOTIFY,
  COMPLETION,
  DEMO,
  HELP,
  VERSION_COMMAND,
  COMPLETE,
]

export function commandNamed(word: string): Command | undefined {
  return COMMANDS.find(command => command.name === word || command.aliases?.includes(word))
}

/** What a person may have meant to type. */
export function commandWords(): string[] {
  return COMMANDS.filter(command => command.group !== null).flatMap(command => [
    command.name,
    ...(command.aliases ?? []),
  ])
}

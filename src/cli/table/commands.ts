import type { Command } from './command.ts'
import { DEBUG, EVENTS, FOLLOW, LIST, LOG, MESSAGES, STATUS, VERIFY } from './look.ts'
import { CHECKPOINT, CHECKPOINTS, DIFF, RESTORE } from './keep.ts'
import { HOLD, RESUME, SEND, TASKS } from './converse.ts'
import { COMPLETE, COMPLETION, CONFIG, DEMO, HELP, NOTIFY, VERSION_COMMAND } from './set-up.ts'
import { BUILD, RALPH } from './loops.ts'
import { BOOT, DAEMON, DOCTOR, UPDATE } from './supervisor.ts'
import { ATTACH, CLEAN, KILLALL, RENAME, RESTART, RUN, STOP, WAIT } from './work.ts'

/** Every command, in the order help shows them. */
export const COMMANDS: readonly Command[] = [
  RUN,
  RALPH,
  BUILD,
  SEND,
  TASKS,
  RESUME,
  HOLD,
  ATTACH,
  STOP,
  RESTART,
  RENAME,
  KILLALL,
  WAIT,
  CLEAN,
  CHECKPOINT,
  CHECKPOINTS,
  DIFF,
  RESTORE,
  LIST,
  STATUS,
  VERIFY,
  LOG,
  FOLLOW,
  EVENTS,
  DEBUG,
  MESSAGES,
  DAEMON,
  BOOT,
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

import type { Command } from '../args/command.ts'
import { DEBUG, EVENTS, FOLLOW, LIST, LOG, MESSAGES, STATUS, VERIFY } from './inspection.ts'
import { CHECKPOINT, CHECKPOINTS, DIFF, RESTORE } from './checkpoints.ts'
import { HOLD, RESUME, SEND, TASKS } from './messages.ts'
import { COMPLETE, COMPLETION, CONFIG, DEMO, HELP, NOTIFY, VERSION_COMMAND } from './setup.ts'
import { BUILD, RALPH } from './loops.ts'
import { BOOT, DAEMON, DOCTOR, UPDATE } from './supervisor.ts'
import { ATTACH, CLEAN, KILLALL, RENAME, RESTART, RUN, STOP, WAIT } from './sessions.ts'

/** Every command, in the order of help. */
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

export function findCommand(word: string): Command | undefined {
  return COMMANDS.find(command => command.name === word || command.aliases?.includes(word))
}

/** Returns the names for suggestions after a typo. */
export function commandNames(): string[] {
  return COMMANDS.filter(command => command.group !== null).flatMap(command => [
    command.name,
    ...(command.aliases ?? []),
  ])
}

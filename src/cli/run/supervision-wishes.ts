import type { Config } from '../../api/config/load-config.ts'
import { OF_THE_AGENT } from '../../api/config/supervision-keys.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'

type Wishes = Pick<
  RunRequest,
  'restart' | 'patience' | 'memory' | 'maxOutput' | 'saving' | 'alertAfter' | 'verify' | 'beads'
>

/** How the session is to be seen through. */
export function supervisionWishes(line: Line, config: Config): Wishes {
  const chosen = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value)
  const when = line.value(OPTIONS.restart)
  const memory = chosen(line.value(OPTIONS.memory), config.memory.value)
  const silence = chosen(line.value(OPTIONS.silence), config.silence.value)
  return {
    restart: {
      ...(when === 'on-failure' && { on: 'failure' as const }),
      limit: when === 'never' ? 0 : (line.value(OPTIONS.maxRestarts) ?? config['max-restarts'].value),
      window: config['restart-window'].value,
      nextDelay: config['restart-delay'].value,
      maxDelay: config['restart-max-delay'].value,
    },
    patience: {
      ...(silence !== OF_THE_AGENT && { silence }),
      limit: chosen(line.value(OPTIONS.limitWait), config['limit-wait'].value),
      absence: config['resume-within'].value,
    },
    ...(memory !== null && { memory }),
    maxOutput: chosen(line.value(OPTIONS.maxOutput), config['max-output'].value),
    ...verifyWish(line),
    saving: {
      mode: line.value(OPTIONS.checkpoints) ?? config.checkpoints.value,
      interval: config['checkpoint-interval'].value,
      push: line.value(OPTIONS.push) ?? config['checkpoint-push'].value,
      ...(line.has(OPTIONS.pushUntracked) && { pushUntracked: true }),
      ...(config.nested.value && { nested: true }),
    },
    alertAfter: config['notify-restarts'].value,
    ...(config.beads.value && { beads: true }),
  }
}

function verifyWish(line: Line): Pick<Wishes, 'verify'> {
  const git = line.has(OPTIONS.verifyGit)
  const check = line.value(OPTIONS.verify) ?? null
  return git || check !== null ? { verify: { git, check } } : {}
}

/** A command is started once unless its user says otherwise: a number alone would do nothing, in silence. */
export function refuseIdleWishes(line: Line): void {
  if (!line.has(OPTIONS.maxRestarts) || line.has(OPTIONS.restart)) return
  throw refusal('usage', '--max-restarts does nothing for a command by itself', 'add --restart on-failure')
}

import { CHECKPOINT_MODES } from '../../api/config/checkpoint-keys.ts'
import { AUTONOMY_LEVELS, type KeyName, type ValueOf } from '../../api/config/keys.ts'
import { AGENT_DEFAULT, STOP_GRACE } from '../../api/config/supervision-keys.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import { flag, type Option, valueOption } from './command-definition.ts'
import {
  choiceType,
  COMMAND_WORDS,
  COUNT,
  DURATION_OR_NONE,
  GRACE_PERIOD,
  MEMORY_SIZE,
  OUTPUT_SIZE,
  POSITIVE_INTEGER,
  SMALL_INTEGER,
  textType,
  USD_AMOUNT,
  WAIT_LIMIT,
  wordType,
} from './value-types.ts'

type Supervision = RunRequest['supervision']
type Group = 'limits' | 'restart' | 'patience' | 'saving'
type Prefixed<Prefix extends string, T> = { readonly [M in keyof T & string as `${Prefix}${M}`]: T[M] }
type GroupFields<G extends Group> = Prefixed<`supervision.${G}.`, Required<NonNullable<Supervision[G]>>>

/** The value of each field of a request that an option or a config key fills, by the path of the field. */
type FieldValues = Required<Pick<RunRequest, 'autonomy' | 'model' | 'effort' | 'thread'>> &
  Prefixed<'supervision.', Required<Omit<Supervision, Group>>> &
  GroupFields<'limits'> &
  GroupFields<'restart'> &
  GroupFields<'patience'> &
  GroupFields<'saving'>

type Field = keyof FieldValues
type FieldFor<T> = { [F in Field]: [T] extends [FieldValues[F]] ? F : never }[Field]
type KeyFor<T> = { [K in KeyName]: [ValueOf<K>] extends [T] ? K : never }[KeyName]

/** The part of a request that gets its value from an option, else from a config key. */
export interface FieldSource {
  readonly field: Field
  readonly key?: KeyName
  /** The request omits the field if it has this value. */
  readonly absent?: unknown
}

/** An option of `run` and its place in the request. An option without a field needs code in `supervision-options.ts`. */
export interface RunOption<T> extends Option<T>, Partial<FieldSource>, RunOptionScope {}

interface RunOptionScope {
  /** A command without an agent refuses the option. */
  readonly isAgentOnly?: true
  /**
   * Loops accept the option: for each iteration, for the loop as a whole, or for both. If absent, `run` alone accepts
   * it.
   */
  readonly inLoop?: 'iteration' | 'loop' | 'both'
}

/** The options that describe the work of `run`, in the order of its help. Each one names its field and its config key. */
export const RUN_OPTIONS = {
  autonomy: runOption(
    valueOption('autonomy', choiceType('LEVEL', AUTONOMY_LEVELS), 'what it may do unasked: anything, edit files, look'),
    { field: 'autonomy', key: 'autonomy', isAgentOnly: true, inLoop: 'iteration' },
  ),
  model: runOption(valueOption('model', wordType('MODEL'), 'the agent’s own name for a model'), {
    field: 'model',
    isAgentOnly: true,
    inLoop: 'iteration',
  }),
  effort: runOption(valueOption('effort', wordType('LEVEL'), 'how hard the agent thinks, in its own terms'), {
    field: 'effort',
    isAgentOnly: true,
    inLoop: 'iteration',
  }),
  maxTime: runOption(
    valueOption('max-time', DURATION_OR_NONE, 'stop the work after this time; none for no limit (5h)'),
    { field: 'supervision.maxTime', key: 'max-time' },
  ),
  restart: valueOption(
    'restart',
    choiceType('WHEN', ['never', 'on-failure']),
    'start a command again: never, or when it fails',
  ),
  maxRestarts: runOption(
    valueOption('max-restarts', SMALL_INTEGER, 'give up after so many restarts within the window (10)'),
    { field: 'supervision.restart.limit', key: 'max-restarts', inLoop: 'iteration' },
  ),
  silence: runOption(
    valueOption('silence', DURATION_OR_NONE, 'no sign of life for this long means hung; none: never'),
    { field: 'supervision.patience.silence', key: 'silence', absent: AGENT_DEFAULT, inLoop: 'iteration' },
  ),
  limitWait: runOption(valueOption('limit-wait', WAIT_LIMIT, 'longest wait for a usage limit; off, none (24h)'), {
    field: 'supervision.patience.limit',
    key: 'limit-wait',
    inLoop: 'iteration',
  }),
  stopGrace: runOption(
    valueOption('stop-grace', GRACE_PERIOD, 'how long it may clean up when you stop it; then it is ended (5s)'),
    { field: 'supervision.stopGrace', key: 'stop-grace', absent: STOP_GRACE.fallback, inLoop: 'iteration' },
  ),
  memory: runOption(valueOption('memory', MEMORY_SIZE, 'end it when its processes use more, such as 4G'), {
    field: 'supervision.memory',
    key: 'memory',
    absent: null,
    inLoop: 'iteration',
  }),
  maxOutput: runOption(
    valueOption('max-output', OUTPUT_SIZE, 'stop it when it has written more; none for no limit (1G)'),
    { field: 'supervision.maxOutput', key: 'max-output', inLoop: 'iteration' },
  ),
  checkpoints: runOption(
    valueOption('checkpoints', choiceType('MODE', CHECKPOINT_MODES), 'where to save the work: ref, branch, off (ref)'),
    { field: 'supervision.saving.mode', key: 'checkpoints', inLoop: 'both' },
  ),
  push: runOption(valueOption('push', wordType('REMOTE'), 'push the checkpoints to this git remote as well'), {
    field: 'supervision.saving.push',
    key: 'checkpoint-push',
    inLoop: 'both',
  }),
  pushUntracked: runOption(flag('push-untracked', 'push untracked files that look like secrets, too'), {
    field: 'supervision.saving.pushUntracked',
    inLoop: 'both',
  }),
  maxTurns: runOption(valueOption('max-turns', POSITIVE_INTEGER, 'stop it after so many answers of the model'), {
    field: 'supervision.limits.turns',
    isAgentOnly: true,
    inLoop: 'iteration',
  }),
  budgetUsd: runOption(valueOption('budget-usd', USD_AMOUNT, 'stop it when it has cost this much'), {
    field: 'supervision.limits.usd',
    isAgentOnly: true,
    inLoop: 'loop',
  }),
  budgetTokens: runOption(valueOption('budget-tokens', COUNT, 'stop it after so many tokens, such as 500k or 2M'), {
    field: 'supervision.limits.tokens',
    isAgentOnly: true,
    inLoop: 'loop',
  }),
  thread: runOption(valueOption('thread', wordType('ID'), 'continue an earlier conversation of the agent'), {
    field: 'thread',
    isAgentOnly: true,
  }),
  verify: valueOption('verify', wordType('LINE'), 'a line for sh; the work is done only if it passes'),
  verifyGit: flag('verify-git', 'the work is done only if git shows a change'),
  onExit: {
    ...valueOption('on-exit', COMMAND_WORDS, 'run this when it has ended, without a shell'),
    inLoop: 'loop',
  },
  onExitShell: { ...valueOption('on-exit-shell', textType('LINE'), 'the same, as a line for sh'), inLoop: 'loop' },
} as const satisfies Record<string, RunOption<unknown>>

export const RUN_OPTION_LIST: readonly RunOption<unknown>[] = Object.values(RUN_OPTIONS)

/** The fields of a request that only a config key fills. */
export const CONFIG_FIELDS: readonly FieldSource[] = [
  configField({ field: 'supervision.restart.window', key: 'restart-window' }),
  configField({ field: 'supervision.restart.nextDelay', key: 'restart-delay' }),
  configField({ field: 'supervision.restart.maxDelay', key: 'restart-max-delay' }),
  configField({ field: 'supervision.patience.absence', key: 'resume-within' }),
  configField({ field: 'supervision.saving.interval', key: 'checkpoint-interval' }),
  configField({ field: 'supervision.saving.nested', key: 'nested', absent: false }),
  configField({ field: 'supervision.alertAfter', key: 'notify-restarts' }),
  configField({ field: 'supervision.projectFiles', key: 'project-files', absent: true }),
  configField({ field: 'supervision.beads', key: 'beads', absent: false }),
]

/** The compiler refuses a field or a key whose type differs from that of the option. */
function runOption<T, F extends FieldFor<T>, const A = never>(
  option: Option<T>,
  place: RunOptionScope & { readonly field: F; readonly key?: KeyFor<FieldValues[F] | A>; readonly absent?: A },
): RunOption<T> {
  return { ...option, ...place }
}

function configField<F extends Field, const A = never>(source: {
  readonly field: F
  readonly key: KeyFor<FieldValues[F] | A>
  readonly absent?: A
}): FieldSource {
  return source
}

import type { Loop } from './loop-state.ts'
import { parseSpec } from './spec.ts'

type Fields = Readonly<Record<string, unknown>>

/** The names of fields in version 1 of a loop's file, with their present names. */
const LOOP_FIELDS = {
  waived: 'forgivenIterations',
  wokenAt: 'resumedAt',
  width: 'concurrency',
  widthSince: 'concurrencySince',
  marking: 'tickAt',
  toMark: 'marksToWrite',
  yours: 'userChanges',
  home: 'userBranch',
}
const TASK_FIELDS = {
  stand: 'state',
  pardoned: 'forgivenTries',
  place: 'checkout',
  clash: 'conflicts',
  isCleared: 'isWorktreeRemoved',
  kept: 'remainingWork',
  sealed: 'verifiedCommit',
  undone: 'previousCompletion',
}
const STATE_FIELDS = { flaw: 'failure', said: 'finalOutput' }

/** Upgrades a loop of version 1, which had other names for the same facts. Leaves a loop of version 2 as it is. */
export function upgradeLoop(written: Fields): Loop {
  const { tasks, plan, spec, ...loop } = written
  return {
    ...renameFields(loop, LOOP_FIELDS),
    spec: parseSpec(spec),
    tasks: mapList(tasks, upgradeTask),
    plan: mapList(plan, upgradeState),
  } as unknown as Loop
}

function upgradeTask(written: Fields): Fields {
  const { state, tries, previousCompletion, ...task } = renameFields(written, TASK_FIELDS)
  return {
    ...task,
    state: upgradeState(asFields(state)),
    tries: mapList(tries, upgradeState),
    ...(previousCompletion !== undefined && { previousCompletion: upgradeTaskFields(asFields(previousCompletion)) }),
  }
}

function upgradeTaskFields(written: Fields): Fields {
  const { state, ...fields } = renameFields(written, TASK_FIELDS)
  return { ...fields, state: upgradeState(asFields(state)) }
}

/** Upgrades the state of a task, or an iteration: both may hold a failure. */
function upgradeState(written: Fields): Fields {
  const state = renameFields(written, STATE_FIELDS)
  const { name, failure } = state
  const { kind } = asFields(failure)
  return {
    ...state,
    ...(name === 'judging' && { name: 'verifying' }),
    ...(kind === 'clash' && { failure: { ...asFields(failure), kind: 'conflict' } }),
  }
}

function renameFields(fields: Fields, names: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]))
}

function asFields(value: unknown): Fields {
  return Object(value) as Fields
}

/** Leaves a value that is no list as it is: the reader then reports the file as damaged. */
function mapList(value: unknown, upgrade: (fields: Fields) => Fields): unknown {
  return Array.isArray(value) ? value.map(item => upgrade(asFields(item))) : value
}

import { refusal } from '../../api/contract/problems.ts'
import { runStep, type StepPlace, tryStep } from './run-step.ts'

export interface UpdateStatus {
  /** True if a newer version than the installed one exists. */
  readonly isNew: boolean
  readonly text: string
}

/** Checks upstream and does not change the working tree. */
export async function checkClone(place: StepPlace): Promise<UpdateStatus> {
  await assertUpstream(place)
  await runStep('git', ['fetch', '--quiet'], place)
  const behind = Number(await runStep('git', ['rev-list', '--count', 'HEAD..@{upstream}'], place))
  const text = behind === 0 ? 'up to date' : `${behind} ${behind === 1 ? 'commit' : 'commits'} behind`
  return { isNew: behind > 0, text }
}

/**
 * Fast-forwards and rebuilds, and returns a description of the changes; undefined when there was nothing new. It never
 * merges with or overwrites local changes, and reverts a version that does not build: with it, not even the next update
 * could start.
 */
export async function updateClone(place: StepPlace, print: (text: string) => void): Promise<string | undefined> {
  const root = place.cwd
  const changes = await runStep('git', ['status', '--porcelain', '--untracked-files=no'], place)
  if (changes !== '') {
    throw refusal('update-impossible', `${root} has local changes`, `commit or stash them: git -C ${root} status`)
  }
  await assertUpstream(place)
  print('fetching …')
  const before = await runStep('git', ['rev-parse', 'HEAD'], place)
  await runStep('git', ['pull', '--ff-only', '--quiet'], place)
  const after = await runStep('git', ['rev-parse', 'HEAD'], place)
  if (after === before) return undefined
  try {
    await rebuild(place, print)
  } catch (cause) {
    await runStep('git', ['reset', '--quiet', '--keep', before], place)
    throw cause
  }
  return `${before.slice(0, 8)} → ${after.slice(0, 8)}`
}

async function rebuild(place: StepPlace, print: (text: string) => void): Promise<void> {
  print('installing …')
  await runStep('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], place)
  print('building …')
  await runStep(process.execPath, ['scripts/build.mjs'], place)
}

async function assertUpstream(place: StepPlace): Promise<void> {
  const root = place.cwd
  const upstream = await tryStep('git', ['rev-parse', '--abbrev-ref', '--symbolic-full-name', '@{upstream}'], place)
  if (upstream !== undefined) return
  throw refusal(
    'update-impossible',
    `the branch checked out in ${root} follows no other`,
    `git -C ${root} branch --set-upstream-to=origin/main`,
  )
}

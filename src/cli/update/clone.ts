import { refusal } from '../../api/contract/problems.ts'
import { runStep, tryStep } from './run-step.ts'

export interface UpdateStatus {
  /** True if a newer version than the installed one exists. */
  readonly isNew: boolean
  readonly text: string
}

/** Checks upstream and does not change the working tree. */
export async function checkClone(root: string): Promise<UpdateStatus> {
  await assertUpstream(root)
  await runStep('git', ['fetch', '--quiet'], root)
  const behind = Number(await runStep('git', ['rev-list', '--count', 'HEAD..@{upstream}'], root))
  const text = behind === 0 ? 'up to date' : `${behind} ${behind === 1 ? 'commit' : 'commits'} behind`
  return { isNew: behind > 0, text }
}

/**
 * Fast-forwards and rebuilds, and returns a description of the changes; undefined when there was nothing new. It never
 * merges with or overwrites local changes, and reverts a version that does not build: with it, not even the next update
 * could start.
 */
export async function updateClone(root: string, print: (text: string) => void): Promise<string | undefined> {
  const changes = await runStep('git', ['status', '--porcelain', '--untracked-files=no'], root)
  if (changes !== '') {
    throw refusal('update-impossible', `${root} has local changes`, `commit or stash them: git -C ${root} status`)
  }
  await assertUpstream(root)
  print('fetching …')
  const before = await runStep('git', ['rev-parse', 'HEAD'], root)
  await runStep('git', ['pull', '--ff-only', '--quiet'], root)
  const after = await runStep('git', ['rev-parse', 'HEAD'], root)
  if (after === before) return undefined
  try {
    await rebuild(root, print)
  } catch (cause) {
    await runStep('git', ['reset', '--quiet', '--keep', before], root)
    throw cause
  }
  return `${before.slice(0, 8)} → ${after.slice(0, 8)}`
}

async function rebuild(root: string, print: (text: string) => void): Promise<void> {
  print('installing …')
  await runStep('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], root)
  print('building …')
  await runStep(process.execPath, ['scripts/build.mjs'], root)
}

async function assertUpstream(root: string): Promise<void> {
  const upstream = await tryStep('git', ['rev-parse', '--abbrev-ref', '--symbolic-full-name', '@{upstream}'], root)
  if (upstream !== undefined) return
  throw refusal(
    'update-impossible',
    `the branch checked out in ${root} follows no other`,
    `git -C ${root} branch --set-upstream-to=origin/main`,
  )
}

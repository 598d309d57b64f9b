import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import { formatIso } from '../../lib/time.ts'
import { toCell, toLine, type PageData } from './page-input.ts'

/** Renders CHECKPOINTS.md: all checkpoints, newest first, and the commands to view and restore them. */
export function renderCheckpoints({ session, view, checkpoints, checkpointCount }: PageData): string {
  const { name } = view
  const shown = checkpoints.toReversed()
  const trouble = session.saved.trouble === null ? [] : ['', `The last try failed: ${toLine(session.saved.trouble)}`]
  const head = [
    `# Checkpoints of ${name}`,
    '',
    ...renderSummary(session.spec.supervision.saving.mode, checkpointCount, shown.length),
    ...trouble,
    '',
  ]
  if (shown.length === 0) return head.join('\n')
  const last = shown[0]?.number ?? 1
  const before = shown[1]?.number ?? last
  return [
    ...head,
    '```sh',
    `oneshot checkpoints ${name}`,
    `oneshot diff ${name} ${before} ${last}`,
    `oneshot restore ${name}@${last}`,
    '```',
    '',
    // The page names the ref and no commits: pruning rewrites the commits of older checkpoints.
    `They are commits of \`refs/oneshot/${name}/${view.id}\`, the newest first.`,
    '',
    '| no | time | trigger | files | lines | left out |',
    '|---:|---|---|---:|---:|---|',
    ...shown.map(renderRow),
    '',
  ].join('\n')
}

function renderSummary(mode: 'ref' | 'branch' | 'off', count: number, shown: number): string[] {
  if (count === 0) return [mode === 'off' ? 'None: checkpoints are off for this session.' : 'None so far.']
  const many = `${count} ${count === 1 ? 'checkpoint' : 'checkpoints'}, the newest first`
  return [
    `${many}${shown < count ? `; the last ${shown} are shown` : ''}. oneshot removes some of the old ones in time.`,
  ]
}

function renderRow({ number, at, trigger, change, leftOut }: Checkpoint): string {
  const lines = `+${change.added} −${change.removed}`
  return `| ${number} | ${formatIso(at)} | ${trigger} | ${change.files} | ${lines} | ${toCell(leftOut.join('; '))} |`
}

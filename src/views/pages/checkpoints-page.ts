import type { Checkpoint } from '../../core/checkpoint.ts'
import { iso } from '../../lib/time.ts'
import { inCell, inLine, type Material } from './material.ts'

/** CHECKPOINTS.md: what was saved when, newest first, and the commands to see and to use it. */
export function checkpointsPage({ session, view, checkpoints, checkpointCount }: Material): string {
  const { name } = view
  const shown = checkpoints.toReversed()
  const trouble = session.saved.trouble === null ? [] : ['', `The last try failed: ${inLine(session.saved.trouble)}`]
  const head = [
    `# Checkpoints of ${name}`,
    '',
    ...summary(session.spec.saving.mode, checkpointCount, shown.length),
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
    // Not by their commits: those of older ones are written anew when some are thinned out.
    `They are commits of \`refs/oneshot/${name}/${view.id}\`, the newest first.`,
    '',
    '| no | time | trigger | files | lines | left out |',
    '|---:|---|---|---:|---:|---|',
    ...shown.map(row),
    '',
  ].join('\n')
}

function summary(mode: 'ref' | 'branch' | 'off', count: number, shown: number): string[] {
  if (count === 0) return [mode === 'off' ? 'None: checkpoints are off for this session.' : 'None so far.']
  const many = `${count} ${count === 1 ? 'checkpoint' : 'checkpoints'}, the newest first`
  return [
    `${many}${shown < count ? `; the last ${shown} are shown` : ''}. oneshot removes some of the old ones in time.`,
  ]
}

function row({ number, at, trigger, change, leftOut }: Checkpoint): string {
  const lines = `+${change.added} −${change.removed}`
  return `| ${number} | ${iso(at)} | ${trigger} | ${change.files} | ${lines} | ${inCell(leftOut.join('; '))} |`
}

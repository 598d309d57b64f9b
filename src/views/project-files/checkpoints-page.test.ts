import { expect, test } from 'vitest'
import { makeCheckpoint, makePageData, makeSession } from '../../../testkit/views/page-data.ts'
import { renderCheckpoints } from './checkpoints-page.ts'

test('the page lists checkpoints in a table, newest first, with commands for the last ones', () => {
  const checkpoints = [makeCheckpoint(3, { trigger: 'start' }), makeCheckpoint(7, { leftOut: ['big.bin | 80 MB'] })]
  expect(
    renderCheckpoints(makePageData(makeSession(), { checkpoints, checkpointCount: 2 })),
  ).toBe(`# Checkpoints of claude-fix-auth

2 checkpoints, the newest first. oneshot removes some of the old ones in time.

\`\`\`sh
oneshot checkpoints claude-fix-auth
oneshot diff claude-fix-auth 3 7
oneshot restore claude-fix-auth@7
\`\`\`

They are commits of \`refs/oneshot/claude-fix-auth/k3v9x2m4qa\`, the newest first.

| no | time | trigger | files | lines | left out |
|---:|---|---|---:|---:|---|
| 7 | 2026-11-15T10:07:00.000Z | edit | 2 | +10 −3 | big.bin \\| 80 MB |
| 3 | 2026-11-15T10:03:00.000Z | start | 2 | +10 −3 |  |
`)
})

test('the page shows the last of many checkpoints, and their total number', () => {
  const checkpoints = Array.from({ length: 200 }, (_, i) => makeCheckpoint(i + 801))
  const page = renderCheckpoints(makePageData(makeSession(), { checkpoints, checkpointCount: 1_000 }))
  expect(page).toContain('1000 checkpoints, the newest first; the last 200 are shown.')
  expect(page.match(/^\| \d+ /gm)).toHaveLength(200)
})

test('the page without checkpoints says why', () => {
  const failed = makeSession({ saved: { ...makeSession().saved, trouble: 'there is no repository here' } })
  const off = makeSession({}, { supervision: { saving: { mode: 'off', interval: 1, push: null } } })
  expect(renderCheckpoints(makePageData(makeSession()))).toBe('# Checkpoints of claude-fix-auth\n\nNone so far.\n')
  expect(renderCheckpoints(makePageData(failed))).toContain(
    'None so far.\n\nThe last try failed: there is no repository here\n',
  )
  expect(renderCheckpoints(makePageData(off))).toContain('None: checkpoints are off for this session.\n')
})

import { expect, test } from 'vitest'
import { makePaint } from './colors.ts'
import { paintDiff, paintDiffStat } from './paint-diff.ts'

const paint = makePaint(true)
const { bold, cyan, green, red } = paint

const PATCH = `diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,3 +1,3 @@ main
 same
--- removed, and looks like a header
+++ added, and looks like a header

\\ No newline at end of file
diff --git a/y b/y
new file mode 100644
@@ -0,0 +1 @@
+only line
`

test('paintDiff colours headers, hunks and changed lines, and is not misled by lines that look like headers', () => {
  expect(paintDiff(PATCH, paint).split('\n')).toEqual([
    bold('diff --git a/x b/x'),
    bold('index 1..2 100644'),
    bold('--- a/x'),
    bold('+++ b/x'),
    `${cyan('@@ -1,3 +1,3 @@')} main`,
    ' same',
    red('--- removed, and looks like a header'),
    green('+++ added, and looks like a header'),
    '',
    '\\ No newline at end of file',
    bold('diff --git a/y b/y'),
    bold('new file mode 100644'),
    cyan('@@ -0,0 +1 @@'),
    green('+only line'),
    '',
  ])
})

test('paintDiffStat colours the bars alone', () => {
  expect(paintDiffStat(' a.txt | 3 ++-\n b.bin | Bin 0 -> 4 bytes\n 1 file changed, 2 insertions(+)\n', paint)).toBe(
    ` a.txt | 3 ${green('++')}${red('-')}\n b.bin | Bin 0 -> 4 bytes\n 1 file changed, 2 insertions(+)\n`,
  )
})

import fs from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect } from 'vitest'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { takesMoreThan } from './regex-backtracks.ts'
import { samplesOf } from './regex-samples.ts'
import { attackSize } from './attack-size.ts'

/** Expressions that take the square of a length that nobody outside decides, or that is always small. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/cli/help/layout.ts': 'our own help',
  'src/core/tampering/strip-comments.ts': 'the last 12 characters of the code',
  'src/core/loop/list/checklist.ts': 'a note of at most 2,000 characters',
  'src/lib/time.ts': 'a text that another expression has found to be a duration',
  'src/loop/effects/run-worker.ts': 'a name of at most 60 characters',
  'src/world/boot/launchd.ts': 'a file that we have written',
  'src/world/boot/systemd.ts': 'a file that we have written',
}

/** So many repetitions take more steps than these for each character, if they take the square. `.{0,200}` takes less. */
const REPETITIONS = 1_200
const STEPS_EACH = 300
/** A part is repeated to one of these lengths, because V8 compiles an expression anew for each limit of steps. */
const LENGTHS = [1, 2, 4, 8, 16, 24].map(part => part * REPETITIONS)

const root = path.resolve(import.meta.dirname, '../..')
const files = fs
  .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map(name => path.join('src', name))
  .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
/** Texts of others reach lib and core first. */
const folders = [...new Set(files.map(name => path.dirname(name)))].toSorted((one, other) => rank(one) - rank(other))

describe('an attacker who knows every regular expression', () => {
  forCases(folders, 25, 'finds none in %s whose time grows with the square of a text’s length', folder => {
    const names = files.filter(name => path.dirname(name) === folder && BOUNDED[name] === undefined)
    const slow = names.flatMap(name =>
      expressionsIn(name).flatMap(expression => {
        const text = nastyTextFor(expression)
        return text === null ? [] : [`${name}: ${String(expression)} with ${text}`]
      }),
    )
    expect(slow).toEqual([])
  })
})

function rank(folder: string): number {
  return folder.startsWith('src/lib') ? 0 : folder.startsWith('src/core') ? 1 : 2
}

function expressionsIn(name: string): RegExp[] {
  const file = ts.createSourceFile(name, fs.readFileSync(path.join(root, name), 'utf8'), ts.ScriptTarget.Latest)
  const found: RegExp[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push(new RegExp(node.text.slice(1, end), node.text.slice(end + 1)))
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** Repeats each part of texts that the expression likes, with an end that it likes and with others. */
function nastyTextFor(expression: RegExp): string | null {
  const tried = new Set<string>()
  for (const text of samplesOf(expression.source, expression.flags, attackSize(3, 40)))
    for (let from = 0; from < Math.min(text.length, 40); from++)
      for (let to = from + 1; to <= Math.min(text.length, from + attackSize(8, 24)); to++)
        for (const end of ['', '!', '\n\0']) {
          const [begin, part] = [text.slice(0, from), text.slice(from, to)]
          const key = JSON.stringify([begin, part, end])
          if (tried.has(key)) continue
          tried.add(key)
          const length = LENGTHS.find(length => length >= part.length * REPETITIONS) ?? Infinity
          const repeated = part.repeat(Math.ceil(length / part.length))
          if (takesMoreThan(STEPS_EACH * length, expression, `${begin}${repeated}${end}`)) return key
        }
  return null
}

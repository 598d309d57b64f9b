import type { ProofView } from '../../api/contract/proof-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Paint, Shade } from '../screen/paint.ts'
import { changeOf } from '../session/change-of.ts'

const SHADES: { readonly [V in ProofView['verdict']]: Shade } = {
  proven: 'green',
  refuted: 'red',
  'not-proven': 'yellow',
}
/** Of a list that is longer, people look into the JSON. */
const SHOWN = 6

type Fact = readonly [label: string, text: string]

/** The verdict, and below it what it stands on. */
export function describeProof(proof: ProofView, paint: Paint): string[] {
  const { verdict, sentence, check, state, reason, said, failures, remarks } = proof
  const facts = [
    ...workFacts(proof),
    ...fact('ended', reason === null || sentence.includes(reason) ? state : `${state}: ${reason}`),
    ...fact('said', said !== null && !sentence.includes(said) && said !== reason ? firstLine(said) : null),
    ...failures.slice(-SHOWN).flatMap(line => fact('output', line)),
    ...fact('check', check && check.how),
    ...fact('all it said', check && check.ok !== true && check.log !== '' ? check.log : null),
    ...remarks.flatMap(remark => fact('note', remark)),
  ]
  return [
    paint[verdict === 'proven' && check === null ? 'yellow' : SHADES[verdict]](oneLine(sentence)),
    ...facts.map(([label, text]) => `  ${paint.dim(label.padEnd(12))} ${oneLine(text)}`),
    ...(check === null || check.ok === true ? [] : quoted(check.tail)),
  ]
}

function fact(label: string, text: string | null): Fact[] {
  return text === null ? [] : [[label, text]]
}

function workFacts({ work }: ProofView): Fact[] {
  if (work === null) return []
  const { commits, commitCount, names, files, uncommitted } = work
  const shown = commits.slice(0, SHOWN)
  const more = commitCount - shown.length
  return [
    ...shown.flatMap(({ id, subject }) => fact('commit', `${id.slice(0, 10)} ${subject}`)),
    ...fact('', more === 0 ? null : `and ${more} more`),
    ...fact('changed', files === 0 ? 'nothing' : `${changeOf(work)}: ${listed(names, files)}`),
    ...fact('uncommitted', uncommitted === 0 ? null : String(uncommitted)),
  ]
}

function listed(names: readonly string[], all: number): string {
  const shown = names.slice(0, SHOWN)
  return [...shown, ...(all > shown.length ? ['…'] : [])].join(', ')
}

function firstLine(text: string): string {
  return text.split('\n').find(line => line.trim() !== '') ?? ''
}

function quoted(tail: string): string[] {
  return tail === '' ? [] : tail.split('\n').map(line => `  │ ${line}`)
}

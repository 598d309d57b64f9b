/** What the audience sees, and the count of promises kept. */
export interface Play {
  say(line: string): void
  /** Something violent. */
  act(line: string): void
  promise(sentence: string, isKept: boolean, evidence: string): void
  quote(text: string): void
  /** The exit code: 0 when every promise was kept. */
  finish(): number
}

export function play(): Play {
  const isColoured = process.stdout.isTTY && !process.env['NO_COLOR']
  const paint = (code: number, text: string): string => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text)
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  let kept = 0
  let broken = 0
  return {
    say: line => print(paint(2, line)),
    act: line => print(`${paint(33, '⚡')} ${line}`),
    promise: (sentence, isKept, evidence) => {
      if (isKept) kept++
      else broken++
      print(`${isKept ? paint(32, '✔') : paint(31, '✖')} ${sentence}\n  ${paint(2, evidence)}`)
    },
    quote: text =>
      print(
        text
          .trimEnd()
          .split('\n')
          .map(line => `  ${paint(2, '│')} ${line}`)
          .join('\n'),
      ),
    finish: () => {
      print(broken === 0 ? `all ${kept} promises kept` : `${broken} of ${kept + broken} promises broken`)
      return broken === 0 ? 0 : 1
    },
  }
}

/** Prints the demo's output and counts the promises kept. */
export interface DemoReport {
  note(line: string): void
  /** Announces a kill. */
  announce(line: string): void
  check(sentence: string, isKept: boolean, evidence: string): void
  showOutput(text: string): void
  /** Returns the exit code: 0 if every promise was kept. */
  finish(): number
}

export function createReport(): DemoReport {
  const isColoured = process.stdout.isTTY && !process.env['NO_COLOR']
  const paint = (code: number, text: string): string => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text)
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  let passed = 0
  let failed = 0
  return {
    note: line => print(paint(2, line)),
    announce: line => print(`${paint(33, '⚡')} ${line}`),
    check: (sentence, isPassed, evidence) => {
      if (isPassed) passed++
      else failed++
      print(`${isPassed ? paint(32, '✔') : paint(31, '✖')} ${sentence}\n  ${paint(2, evidence)}`)
    },
    showOutput: text =>
      print(
        text
          .trimEnd()
          .split('\n')
          .map(line => `  ${paint(2, '│')} ${line}`)
          .join('\n'),
      ),
    finish: () => {
      print(failed === 0 ? `all ${passed} promises kept` : `${failed} of ${passed + failed} promises broken`)
      return failed === 0 ? 0 : 1
    },
  }
}

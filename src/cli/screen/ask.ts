import { harmless } from '../../lib/terminal-text.ts'

/** Asks on stderr, because stdout is for data. Anything but a yes is a no. Only where `screen.mayAsk`. */
export async function ask(question: string): Promise<boolean> {
  process.stderr.write(`${harmless(question, { colour: false })} [y/N] `)
  const answer = await nextLine()
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}

/** The same for what is most likely wanted: an empty line is a yes as well, but no line at all is not. */
export async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${harmless(question, { colour: false })} [Y/n] `)
  const answer = await nextLine()
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim())
}

/** The same with a third answer: `e` to edit first. */
export async function confirmOrEdit(question: string): Promise<'yes' | 'no' | 'edit'> {
  process.stderr.write(`${question} [Y/n/e to edit] `)
  const answer = await nextLine()
  if (answer !== null && /^e(dit)?$/i.test(answer.trim())) return 'edit'
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim()) ? 'yes' : 'no'
}

/** Null when the terminal has gone away. */
function nextLine(): Promise<string | null> {
  const { stdin } = process
  return new Promise(resolve => {
    const done = (text: string | null): void => {
      stdin.off('data', onData).off('end', onEnd)
      stdin.pause()
      resolve(text)
    }
    const onData = (chunk: Buffer): void => done(chunk.toString())
    const onEnd = (): void => done(null)
    stdin.on('data', onData).on('end', onEnd).resume()
  })
}

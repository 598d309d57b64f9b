import { stripControls } from '../../lib/text/terminal-text.ts'

/** Asks on stderr, because stdout is for data. Anything but a yes is a no. Only where `screen.mayAsk`. */
export async function confirmDefaultNo(question: string): Promise<boolean> {
  process.stderr.write(`${stripControls(question, { colour: false })} [y/N] `)
  const answer = await readLine()
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}

/** The same for what is most likely wanted: an empty line is a yes as well, but no line at all is not. */
export async function confirmDefaultYes(question: string): Promise<boolean> {
  process.stderr.write(`${stripControls(question, { colour: false })} [Y/n] `)
  const answer = await readLine()
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim())
}

/** The same with a third answer: `e` to edit first. */
export async function confirmOrEdit(question: string): Promise<'yes' | 'no' | 'edit'> {
  process.stderr.write(`${question} [Y/n/e to edit] `)
  const answer = await readLine()
  if (answer !== null && /^e(dit)?$/i.test(answer.trim())) return 'edit'
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim()) ? 'yes' : 'no'
}

/** Null when the terminal has gone away. */
function readLine(): Promise<string | null> {
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

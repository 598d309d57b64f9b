import { stripControls } from '../../lib/text/terminal-text.ts'

/** Asks on stderr, because stdout is for data. Any answer but yes means no. Call it only if `screen.mayAsk`. */
export async function confirmDefaultNo(question: string): Promise<boolean> {
  process.stderr.write(`${stripControls(question, { colour: false })} [y/N] `)
  const answer = await readLine()
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}

/** Asks about the most likely choice: an empty line means yes as well, but a closed terminal does not. */
export async function confirmDefaultYes(question: string): Promise<boolean> {
  process.stderr.write(`${stripControls(question, { colour: false })} [Y/n] `)
  const answer = await readLine()
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim())
}

/** Asks with a third answer: `e` to edit first. */
export async function confirmOrEdit(question: string): Promise<'yes' | 'no' | 'edit'> {
  process.stderr.write(`${question} [Y/n/e to edit] `)
  const answer = await readLine()
  if (answer !== null && /^e(dit)?$/i.test(answer.trim())) return 'edit'
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim()) ? 'yes' : 'no'
}

/** Reads a line; returns null when the terminal is closed. */
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

import type { Screen } from './command-streams.ts'

/** Asks on stderr, because stdout is for data. Any answer but yes means no. Call it only if `screen.mayAsk`. */
export async function confirmDefaultNo(question: string, screen: Screen): Promise<boolean> {
  screen.err.printPrompt(`${question} [y/N] `)
  const answer = await readLine(screen)
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}

/** Asks about the most likely choice: an empty line means yes as well, but a closed terminal does not. */
export async function confirmDefaultYes(question: string, screen: Screen): Promise<boolean> {
  screen.err.printPrompt(`${question} [Y/n] `)
  const answer = await readLine(screen)
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim())
}

/** Asks with a third answer: `e` to edit first. */
export async function confirmOrEdit(question: string, screen: Screen): Promise<'yes' | 'no' | 'edit'> {
  screen.err.printPrompt(`${question} [Y/n/e to edit] `)
  const answer = await readLine(screen)
  if (answer !== null && /^e(dit)?$/i.test(answer.trim())) return 'edit'
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim()) ? 'yes' : 'no'
}

/** Reads a line; returns null when the terminal is closed. */
function readLine({ input }: Screen): Promise<string | null> {
  const stdin = input.open()
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

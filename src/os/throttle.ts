/** Calls at once, and then at most once in each pause; the calls during a pause become one call at its end. */
export function throttle(pause: number, call: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let isWanted = false
  const open = (): void => {
    timer = undefined
    if (!isWanted) return
    isWanted = false
    fire()
  }
  const fire = (): void => {
    timer = setTimeout(open, pause)
    timer.unref()
    call()
  }
  return () => {
    if (timer === undefined) fire()
    else isWanted = true
  }
}

import type { SessionView } from '../../api/contract/session-view.ts'

/** Ctrl-C while the work is being started waits for its name: it could not be stopped without one. */
export async function undisturbed(
  start: () => Promise<SessionView>,
): Promise<{ session: SessionView; isInterrupted: boolean }> {
  let isInterrupted = false
  const note = (): void => {
    isInterrupted = true
  }
  process.on('SIGINT', note)
  try {
    const session = await start()
    return { session, isInterrupted }
  } finally {
    process.off('SIGINT', note)
  }
}

import { SupervisorLock } from '../../src/world/store/supervisor-lock.ts'

export type Answer = 'held' | 'refused'

/** Acquires or seizes the lock, prints the result, and stays. */
const [, , file = '', how] = process.argv
const lock = how === 'seize' ? SupervisorLock.seize(file, () => true) : SupervisorLock.tryAcquire(file)
const answer: Answer = lock === undefined ? 'refused' : 'held'
console.log(answer)
setInterval(() => lock, 1_000)

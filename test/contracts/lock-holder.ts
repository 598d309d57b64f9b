import { SupervisorLock } from '../../src/world/store/supervisor-lock.ts'

export type Answer = 'held' | 'refused'

/** Takes or seizes the lock, says how that went, and stays. */
const [, , file = '', how] = process.argv
const lock = how === 'seize' ? SupervisorLock.seize(file, () => true) : SupervisorLock.tryAcquire(file)
const answer: Answer = lock === undefined ? 'refused' : 'held'
console.log(answer)
setInterval(() => lock, 1_000)

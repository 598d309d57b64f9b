import { SupervisorLock } from '../../src/world/store/supervisor-lock.ts'

/** Takes or seizes the lock, says how that went, and stays. */
const [, , file = '', how] = process.argv
const lock = how === 'seize' ? SupervisorLock.seize(file) : SupervisorLock.tryTake(file)
console.log(lock === undefined ? 'refused' : 'held')
setInterval(() => lock, 1_000)

import { openTmuxBench } from './tmux-bench.ts'
import { promisesOfWork } from './work-contract.ts'

promisesOfWork('tmux', 'headless', () => openTmuxBench('headless'))
promisesOfWork('tmux', 'tty', () => openTmuxBench('tty'))

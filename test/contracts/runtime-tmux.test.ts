import { openTmuxFixture } from './tmux-fixture.ts'
import { testRuntime } from './runtime-contract.ts'

testRuntime('tmux', 'headless', () => openTmuxFixture('headless'))
testRuntime('tmux', 'tty', () => openTmuxFixture('tty'))

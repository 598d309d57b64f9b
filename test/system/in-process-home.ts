import path from 'node:path'
import { runInProcess } from '../../testkit/system/in-process-cli.ts'
import { type CallOptions, type CommandResult, MAIN, TestHome } from './test-home.ts'

const PROGRAM = path.join(path.dirname(MAIN), 'program.cjs')

/**
 * A home whose commands run in the test's own process, which saves a start of Node for each. Its supervisor and its
 * sessions are real processes. `spawn` runs a command as a process of its own.
 */
export class InProcessHome extends TestHome {
  override call(args: readonly string[], { env, cwd, input }: CallOptions): Promise<CommandResult> {
    return runInProcess(PROGRAM, args, {
      cwd: cwd ?? this.project,
      env: { ...this.env, ...env },
      ...(input !== undefined && { input }),
    })
  }

  spawn(args: readonly string[], options: CallOptions = {}): Promise<CommandResult> {
    return super.call(args, options)
  }
}

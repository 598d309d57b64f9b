import type { CliHost } from './cli/host.ts'

/** Runs a command line in the given host and returns its exit code. */
export async function runOneshot(argv: readonly string[], host: CliHost): Promise<number> {
  const { runCli } = await import('./cli/main.ts')
  return runCli(argv, host, {
    runDirect: async request => (await import('./daemon/run-agent-unsupervised.ts')).runUnsupervised(request),
    preflight: async request => (await import('./loop/inspect-project.ts')).preflight(request),
    landLoop: async (home, id, how) => (await import('./loop/land-loop.ts')).landLoop(home, id, how),
    retryTask: async (home, id, task, options) =>
      (await import('./loop/retry-task.ts')).retryTask(home, id, task, options),
    demo: async options => (await import('./demo/demo.ts')).demo(options),
  })
}

/**
 * Runs the command line of this process; scripts/boot.cjs calls it. The supervisor, the demo agent and the loops have
 * bundles of their own.
 */
export async function main(): Promise<void> {
  const { systemHost } = await import('./cli/system-host.ts')
  const code = await runOneshot(process.argv.slice(2), systemHost())
  process.exitCode ??= code // A failed write to stdout has already set its code, which takes precedence.
}

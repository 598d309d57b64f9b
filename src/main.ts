/** Runs the command line. The supervisor, the demo agent and the loops have bundles of their own: scripts/boot.cjs. */
async function main(): Promise<void> {
  const { runCli: cli } = await import('./cli/main.ts')
  return cli(process.argv.slice(2), {
    runDirect: async request => (await import('./daemon/run-unsupervised.ts')).runUnsupervised(request),
    preflight: async request => (await import('./loop/preflight.ts')).preflight(request),
    landLoop: async (home, id, how) => (await import('./loop/land-command.ts')).landLoop(home, id, how),
    retryTask: async (home, id, task, options) =>
      (await import('./loop/retry-task.ts')).retryTask(home, id, task, options),
    demo: async options => (await import('./demo/demo.ts')).demo(options),
  })
}

void main()

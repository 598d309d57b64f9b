/** The command line. The supervisor, the demo agent and the loops have bundles of their own: scripts/boot.cjs. */
async function main(): Promise<void> {
  const { cli } = await import('./cli/cli.ts')
  return cli(process.argv.slice(2), {
    runDirect: async request => (await import('./daemon/direct.ts')).runDirect(request),
    scout: async wish => (await import('./loop/scout.ts')).scout(wish),
    landLoop: async (home, id, how) => (await import('./loop/land-program.ts')).landLoop(home, id, how),
    retryTask: async (home, id, task, options) =>
      (await import('./loop/retry-task.ts')).retryTask(home, id, task, options),
    demo: async options => (await import('./demo/demo.ts')).demo(options),
  })
}

void main()

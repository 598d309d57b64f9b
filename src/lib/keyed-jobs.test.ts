import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VirtualClock, flushPromises } from '../../testkit/in-memory/virtual-clock.ts'
import { Trouble } from './errors.ts'
import { type Job, KeyedJobs } from './keyed-jobs.ts'
import { type RetryPolicy, fixedPause } from './retry-policy.ts'

const RETRY: RetryPolicy = { firstPause: 100, maxPause: 400 }

/** Runs jobs on a virtual clock and records every start, end and abort. */
class Recording {
  readonly clock = new VirtualClock(0)
  readonly lines: string[] = []
  readonly running = new Map<string, number>()
  maxRunning = 0
  wanted: readonly Job[] = []
  readonly jobs = new KeyedJobs({
    clock: this.clock,
    onFinished: owner => this.jobs.want(owner, this.wanted),
    onError: (_, cause) => this.log(`error ${(cause as Error).message}`),
  })

  log(line: string): void {
    this.lines.push(`${this.clock.now()} ${line}`)
  }

  want(...jobs: readonly Job[]): void {
    this.wanted = jobs
    this.jobs.want('owner', jobs)
  }

  /** Returns a job that records its start and its abort. */
  job(key: string, work: (signal: AbortSignal) => Promise<void>, more: Partial<Job> = {}): Job {
    return {
      key,
      retry: RETRY,
      ...more,
      run: async signal => {
        this.log(`${key} starts`)
        this.running.set(key, (this.running.get(key) ?? 0) + 1)
        this.maxRunning = Math.max(this.maxRunning, this.running.get(key) as number)
        signal.addEventListener('abort', () => this.log(`${key} aborts`))
        try {
          await work(signal)
        } finally {
          this.running.set(key, (this.running.get(key) as number) - 1)
        }
      },
    }
  }

  sleep(duration: number): Promise<void> {
    return new Promise(resolve => void this.clock.schedule(this.clock.now() + duration, resolve))
  }
}

describe('keyed jobs', () => {
  test('start a job when it is due, and keep the earliest time', async () => {
    const recording = new Recording()
    const done = async (): Promise<void> => recording.want()
    recording.want(recording.job('a', done, { dueAt: 50 }))
    recording.want(recording.job('a', done, { dueAt: 20 }))
    recording.want(recording.job('a', done, { dueAt: 70 }))
    await recording.clock.advance(100)
    expect(recording.lines).toEqual(['20 a starts', '20 a aborts'])
  })

  test('back off after failures, up to the longest pause', async () => {
    const recording = new Recording()
    recording.want(recording.job('a', () => Promise.reject(new Error('no'))))
    await recording.clock.advance(1_200)
    expect(recording.lines.filter(line => line.endsWith('starts'))).toEqual(
      [0, 100, 300, 700, 1_100].map(at => `${at} a starts`),
    )
    expect(recording.lines.filter(line => line.endsWith('error no'))).toHaveLength(5)
  })

  test('wait for the longest pause after a failure that a retry cannot help', async () => {
    const recording = new Recording()
    const hopeless = new Trouble('pushing', 'refused', { mayHelpToRetry: false })
    recording.want(recording.job('a', () => Promise.reject(hopeless), { onFailure: () => undefined }))
    await recording.clock.advance(500)
    expect(recording.lines).toEqual(['0 a starts', '400 a starts'])
  })

  test('give up after the last try of the policy, until the job is no longer wanted', async () => {
    const recording = new Recording()
    const failures: boolean[] = []
    const job = recording.job('a', () => Promise.reject(new Error('no')), {
      retry: { ...RETRY, maxTries: 2 },
      onFailure: ({ isFinal }) => void failures.push(isFinal),
    })
    recording.want(job)
    await recording.clock.advance(10_000)
    recording.want(job)
    await recording.clock.advance(10_000)
    expect(failures).toEqual([false, true])
    recording.want()
    recording.want(job)
    expect(recording.lines.at(-1)).toBe('20000 a starts')
  })

  test('fail a job at its time limit', async () => {
    const recording = new Recording()
    recording.want(recording.job('a', () => new Promise(() => undefined), { limit: 30, doing: 'asking' }))
    await recording.clock.advance(40)
    expect(recording.lines).toEqual(['0 a starts', '30 a aborts', '30 error asking: no answer within 30 ms'])
  })

  test('pause before a job that changed nothing, and start at once one that has a new revision', async () => {
    const recording = new Recording()
    let revision = 1
    const job = (): Job => recording.job('a', async () => undefined, { revision, retry: fixedPause(100) })
    recording.want(job())
    await recording.clock.advance(50)
    revision = 2
    recording.want(job())
    await recording.clock.advance(60)
    expect(recording.lines).toEqual(['0 a starts', '100 a starts'])
    const during = recording.job(
      'b',
      async () => recording.want(recording.job('b', async () => undefined, { revision: 2 })),
      {
        revision: 1,
      },
    )
    recording.want(during)
    await flushPromises()
    expect(recording.lines.slice(2)).toEqual(['110 b starts', '110 b starts'])
  })

  test('abort a job that is no longer wanted, and start it again only after its end', async () => {
    const recording = new Recording()
    const job = recording.job('a', () => recording.sleep(50))
    recording.want(job)
    recording.want()
    recording.want(job)
    await recording.clock.advance(60)
    expect(recording.lines).toEqual(['0 a starts', '0 a aborts', '50 a starts'])
    expect(recording.maxRunning).toBe(1)
  })

  test('do not run a job if the check before it fails, and report that', async () => {
    const clock = new VirtualClock(0)
    const errors: unknown[] = []
    const refusal = new Error('superseded')
    const jobs = new KeyedJobs({
      clock,
      beforeStart: () => {
        throw refusal
      },
      onFinished: () => jobs.want('owner', []),
      onError: (_, cause) => errors.push(cause),
    })
    const never = (): never => expect.unreachable()
    jobs.want('owner', [{ key: 'a', retry: RETRY, run: async () => never(), onFailure: never }])
    await flushPromises()
    expect(errors).toEqual([refusal])
  })

  test('stop aborts running jobs, waits for them, and starts nothing more', async () => {
    const recording = new Recording()
    const { clock } = recording
    recording.want(
      recording.job('a', () => recording.sleep(30)),
      recording.job('b', async () => undefined, { dueAt: 10 }),
    )
    let isStopped = false
    const stopped = recording.jobs.stop().then(() => (isStopped = true))
    recording.want(recording.job('c', async () => undefined))
    await clock.advance(20)
    expect(isStopped).toBe(false)
    await clock.advance(100)
    await stopped
    expect(recording.lines).toEqual(['0 a starts', '0 a aborts'])
  })

  test('never run two jobs of a key, and end with the wanted jobs only, for any history', async () => {
    const step = fc.record({
      keys: fc.subarray(['a', 'b', 'c']),
      takes: fc.constantFrom(0, 5, 150),
      fails: fc.boolean(),
      obeys: fc.boolean(),
      dueIn: fc.constantFrom(0, 10, 120),
      pause: fc.constantFrom(0, 1, 60, 500),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const recording = new Recording()
        const { clock } = recording
        for (const { keys, takes, fails, obeys, dueIn, pause } of steps) {
          const work = async (signal: AbortSignal): Promise<void> => {
            const aborted = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
            await Promise.race([recording.sleep(takes), ...(obeys ? [aborted] : [])])
            if (fails) throw new Error('no')
          }
          recording.want(...keys.map(key => recording.job(key, work, { dueAt: clock.now() + dueIn })))
          await clock.advance(pause)
        }
        await clock.advance(1_000)
        expect(recording.maxRunning).toBeLessThanOrEqual(1)
        const wanted = recording.wanted.map(({ key }) => key)
        expect([...recording.jobs.runningKeys('owner')].filter(key => !wanted.includes(key))).toEqual([])
        await Promise.all([recording.jobs.stop(), clock.advance(1_000)])
        const before = recording.lines.length
        await clock.advance(10_000)
        expect(recording.lines).toHaveLength(before)
      }),
      { numRuns: 100 },
    )
  })
})

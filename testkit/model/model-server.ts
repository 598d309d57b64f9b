import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { toolCallsFor, callForRunningCommand } from './tool-calls.ts'
import type { Call, Conversation } from './conversation.ts'
import { sendReply, sendWhole } from './send-reply.ts'
import { type Dialect, wordsOf } from './dialects/dialect.ts'
import { MODELS } from './models.ts'
import { ScriptPlayer } from './script-player.ts'
import { dialectOf, type Request, readRequest } from './requests.ts'
import { type Answer, toolActions, type Script } from './script.ts'
import { ConditionWaiters } from './condition-waiters.ts'

/** A model on loopback that answers according to a script. One server plays many scripts. Always `close` it. */
export class ModelServer {
  readonly #server = http.createServer((message, response) => void this.#handle(message, response))
  readonly #scripts = new Map<string, ScriptPlayer>()
  readonly #requests: Request[] = []
  readonly #waiters = new ConditionWaiters()
  readonly #gates = new Set<string>()
  readonly #closing = new AbortController()
  #replies = 0

  static async open(scripts: Readonly<Record<string, Script>> = {}): Promise<ModelServer> {
    const server = new ModelServer()
    for (const [name, script] of Object.entries(scripts)) server.play(name, script)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  /** Plays this script under this name, from its start. */
  play(name: string, script: Script): void {
    this.#scripts.set(name, new ScriptPlayer(script))
  }

  /** Returns the base URL of a script; programs that need a version in it add `/v1`. */
  url(script: string): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}/${encodeURIComponent(script)}`
  }

  requests(script: string): readonly Request[] {
    return this.#requests.filter(request => request.script === script)
  }

  /** Returns only the main turns. */
  main(script: string): readonly Request[] {
    return this.requests(script).filter(({ isMain }) => isMain)
  }

  /** Waits until the main turns of this script satisfy a condition. Limit in milliseconds. */
  async until(
    script: string,
    isSo: (turns: readonly Request[]) => boolean,
    limit = 60_000,
  ): Promise<readonly Request[]> {
    const stop = AbortSignal.timeout(limit)
    await this.#waiters
      .until(() => isSo(this.main(script)), stop)
      .catch(cause => {
        if (!stop.aborted) throw cause
        throw new Error(`waited ${limit} ms in vain on script ${script}, which had ${this.main(script).length} turns`)
      })
    return this.main(script)
  }

  /** Releases all answers that wait for this gate, now and later. */
  openGate(name: string): void {
    this.#gates.add(name)
    this.#waiters.recheck()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    try {
      await this.#answer(await readRequest(message), response, AbortSignal.any([gone.signal, this.#closing.signal]))
    } catch (cause) {
      if (gone.signal.aborted || this.#closing.signal.aborted) return
      if (response.headersSent) return void response.destroy()
      sendWhole(response, { status: 400, headers: {}, body: { error: { message: String(cause) } } })
    }
  }

  async #answer(heard: Omit<Request, 'isMain' | 'answer'>, response: ServerResponse, gone: AbortSignal): Promise<void> {
    const { script, path, conversation } = heard
    const dialect = dialectOf(path)
    const isCount = /\/count_tokens$|:countTokens$/.test(path)
    const isTurn = conversation !== null && conversation.tools.length > 0 && !isCount
    const ask = isTurn ? callForRunningCommand(conversation) : undefined
    const request: Request = { ...heard, isMain: isTurn && ask === undefined, answer: null }
    this.#requests.push(request)
    const playing = this.#scripts.get(script)
    if (playing === undefined) throw new Error(`no script named ${script}`)
    if (conversation === null || dialect === undefined) return answerOtherPaths(request, response)
    if (isCount) return json(response, { input_tokens: 100, totalTokens: 100 })
    const turn = { dialect, conversation, response, gone }
    if (ask !== undefined) return this.#reply(turn, {}, [ask])
    if (!isTurn) return this.#reply(turn, this.#sideAnswer(script), [])
    const { answer, callName } = playing.next(conversation)
    request.answer = answer
    this.#waiters.recheck()
    await this.#reply(turn, answer, toolCallsFor(toolActions(answer), conversation.tools, callName))
  }

  /**
   * Returns the answer to a request that is no main turn. A lasting overflow also applies to a request that shortens
   * the conversation.
   */
  #sideAnswer(script: string): Answer {
    const last = this.main(script).at(-1)?.answer
    return last && 'overflow' in last && last.times === 'ever' ? last : { say: 'A scripted title' }
  }

  async #reply(turn: Turn, answer: Answer, calls: readonly Call[]): Promise<void> {
    const { dialect, conversation, response, gone } = turn
    const { gate, delay = 0, usage = { input: 100, output: 10 } } = answer
    if (gate !== undefined) await this.#waiters.until(() => this.#gates.has(gate), gone)
    if (delay > 0) await pause(delay, undefined, { signal: gone })
    const id = `${process.pid}_${this.#replies++}`
    const reply = { id, model: conversation.model, words: wordsOf(wordsIn(answer)), calls, usage }
    await sendReply({ answer, reply, dialect, isStreamed: conversation.isStreamed, response, gone })
  }
}

interface Turn {
  readonly dialect: Dialect
  readonly conversation: Conversation
  readonly response: ServerResponse
  readonly gone: AbortSignal
}

/** Text before a stall or a drop if the script has none. */
const FILLER_TEXT = 'I am looking at the files of this project to find out what has to be changed in it. '.repeat(20)

function wordsIn(answer: Answer): string {
  const spoken = 'say' in answer ? answer.say : undefined
  return spoken ?? ('stall' in answer || 'drop' in answer ? FILLER_TEXT : '')
}

function answerOtherPaths({ method, path }: Request, response: ServerResponse): void {
  if (path.endsWith('/models')) return json(response, MODELS)
  if (method === 'HEAD' || path === '/') return void response.writeHead(200).end()
  sendWhole(response, { status: 404, headers: {}, body: { error: { message: `nothing at ${path}` } } })
}

function json(response: ServerResponse, body: unknown): void {
  sendWhole(response, { status: 200, headers: {}, body })
}

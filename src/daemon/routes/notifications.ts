import { loadChannels } from '../../api/config/channels.ts'
import { refusal } from '../../api/contract/problems.ts'
import { parseNotifyTestRequest, type NotifyTestRequest } from '../../api/contract/requests.ts'
import type { ChannelTestView } from '../../api/contract/responses.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { type RouteCall, type RouteContext, type Routes, route } from './route.ts'

export const NOTIFICATION_ROUTES: Routes = {
  'POST /v1/notify/test': route({
    parse: parseNotifyTestRequest,
    handle: testChannels,
    full: 'any',
    confined: 'never',
  }),
}

async function testChannels(context: RouteContext, { body }: RouteCall<NotifyTestRequest>): Promise<ChannelTestView[]> {
  const { channel, tty } = body
  const names = (await loadChannels(process.env)).map(({ name }) => name)
  if (names.length === 0) {
    const hint = 'write [notify.NAME] into your config file: oneshot config edit'
    throw refusal('no-channel', 'no channel is configured', hint)
  }
  if (channel !== undefined && !names.includes(channel)) {
    const suggestion = didYouMean(channel, names)
    const hint = suggestion === undefined ? `the channels are ${names.join(', ')}` : `did you mean ${suggestion}?`
    throw refusal('no-channel', `there is no channel ${channel}`, hint)
  }
  return context.engine.testChannels(channel === undefined ? names : [channel], tty === undefined ? [] : [tty])
}

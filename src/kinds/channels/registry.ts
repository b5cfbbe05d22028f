import type { Channel } from './channel.ts'
import { discord } from './discord.ts'
import { gotify } from './gotify.ts'
import { ntfy } from './ntfy.ts'
import { slack } from './slack.ts'
import { smtp } from './smtp.ts'
import { uptimeKuma } from './uptime-kuma.ts'
import { webhook } from './webhook.ts'

/** Every channel, in the order of the documentation. A new one is its file, this line and a row of docs/notifications.md. */
export const CHANNELS: readonly Channel[] = [webhook, ntfy, slack, discord, gotify, uptimeKuma, smtp]

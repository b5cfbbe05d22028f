import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { type Route, route } from './route.ts'

/** A console is a password away from root, so it is for admins who signed in, as a kubeconfig is. */
export const CONSOLE: Route = route({
  method: 'POST',
  path: '/api/console',
  summary: 'Opens the serial console of a machine; the answer has the ticket for its web socket',
  scope: 'admin',
  session: 'Sign in on the page to do this. In a terminal: croft console NAME.',
  audit: 'input',
  input: z.strictObject({
    key: z.string().min(1).max(LIMITS.foreignNameLength),
    /** Ends another user's console on this machine. */
    takeOver: z.boolean().default(false),
  }),
  output: z.object({ ticket: z.string(), message: z.string() }),
  async handle({ consoles, secondFactor }, { key, takeOver }) {
    const { desk, place } = consoles()
    await secondFactor()
    const ticket = await desk.open(place, key, takeOver)
    return { ticket, message: `Console of ${key} opened.` }
  },
})

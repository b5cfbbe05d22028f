/** The program that NODE_PROGRAM is, as text: it travels in user data and over the lanes. */
export const NODE_PROGRAM_TEXT = '#!/bin/sh\necho \'{"ok":false,"error":"this program is not complete"}\'\nexit 1\n'

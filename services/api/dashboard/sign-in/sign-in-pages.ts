import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import { CODE_SECONDS } from '../../../../shared/domain/accounts/mailed-tokens.ts';
import type { ShownPage } from '../page-route.ts';
import { field } from '../parts/field.ts';

interface FormParts {
  action: string;
  csrfField: Html;
  problem?: string | undefined;
  status?: number;
}

/** Asks for the address. */
export function addressPage({ action, csrfField, problem, status }: FormParts, email = ''): ShownPage {
  return {
    title: 'Sign in',
    status: status ?? 200,
    content: html`<form method="post" action="${action}" class="narrow">
      ${csrfField}
      ${field({
        name: 'email',
        label: 'Your e-mail address',
        type: 'email',
        value: email,
        autocomplete: 'email',
        required: true,
        problem,
        hint: 'A code is sent there. A new address opens a free account with 200 credits.',
      })}
      <button>Send the code</button>
    </form>`,
  };
}

/** Asks for the code that was mailed. */
export function codePage(
  { action, csrfField, problem, status }: FormParts,
  { email, restart }: { email: string; restart: string },
): ShownPage {
  return {
    title: 'Enter the code',
    status: status ?? 200,
    content: html`<p>
        A mail with a code of six digits is on its way to <strong>${email}</strong>. It is valid for
        ${CODE_SECONDS / 60} minutes. If the mail holds a link instead, open it in this browser.
      </p>
      <form method="post" action="${action}" class="narrow">
        ${csrfField}
        ${field({
          name: 'code',
          label: 'Code',
          value: '',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          required: true,
          problem,
        })}
        <button>Sign in</button>
      </form>
      <p><a href="${restart}">Use another address, or get another code</a></p>`,
  };
}

/** After signing out. */
export function signedOutPage(signInPath: string): ShownPage {
  return {
    title: 'You are signed out',
    content: html`<p><a href="${signInPath}">Sign in again</a></p>`,
  };
}

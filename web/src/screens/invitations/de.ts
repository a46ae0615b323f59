import type en from "./en";

const de: typeof en = {
  title: "Einladungen",
  empty: "Keine Einladungen",
  emptyText: "Wenn jemand ein Budget mit dir teilt, erscheint es hier.",
  shares: (owner) => `${owner} möchte dieses Budget mit dir teilen`,
  someone: "Jemand",
  roles: { viewer: "Du kannst das Budget ansehen.", editor: "Du kannst das Budget ansehen und ändern." },
  share: (percentage) => `Dein Anteil ist ${percentage}.`,
  accept: "Annehmen",
  decline: "Ablehnen",
  acceptLabel: (budget) => `${budget} annehmen`,
  declineLabel: (budget) => `${budget} ablehnen`,
  accepted: (budget) => `${budget} ist jetzt mit dir geteilt`,
  declined: (budget) => `Du hast ${budget} abgelehnt`,
  gone: "Diese Einladung wurde zurückgezogen.",
};

export default de;

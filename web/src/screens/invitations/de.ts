import type en from "./en";

const de: typeof en = {
  title: "Einladungen",
  empty: "Keine Einladungen",
  emptyText: "Wenn jemand ein Budget oder ein Sparziel mit dir teilt, erscheint es hier.",
  shares: {
    budgets: (owner) => `${owner} möchte dieses Budget mit dir teilen`,
    goals: (owner) => `${owner} möchte mit dir für dieses Ziel sparen`,
  },
  someone: "Jemand",
  roles: {
    budgets: { viewer: "Du kannst das Budget ansehen.", editor: "Du kannst das Budget ansehen und ändern." },
    goals: { viewer: "Du kannst das Sparziel ansehen.", editor: "Du kannst Geld deiner Konten zuweisen, die nur du siehst, und das Sparziel ändern." },
  },
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

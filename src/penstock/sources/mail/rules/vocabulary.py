"""The words the rules look for, in English, German, French and Spanish."""

from __future__ import annotations

from typing import Final

from penstock.sources.mail.rules.words import Vocabulary, listed

DOCUMENTS: Final = Vocabulary.of(
    english="""
        invoice, invoices, receipt, receipts, credit note, credit memo, debit note, purchase order,
        purchase orders, order confirmation, delivery note, proof of delivery, packing slip, waybill,
        account statement, bank statement, your statement, statement of account, your bill, quotation,
        remittance, payment advice, payment reminder, payment confirmation, payment received, amount due,
        overdue, fee note, payslip, insurance policy, your policy, tax certificate, pro forma, proforma,
        booking confirmation, service agreement, the agreement, the contract
    """,
    german="""
        rechnung*, *rechnung, *rechnungen, quittung*, *quittung, *quittungen, beleg, belege, *beleg,
        *belege, gutschrift*, *gutschrift, lieferschein*, *lieferschein, *lieferscheine,
        frachtbrief*, auftragsbestätigung*, neue bestellung, ihre bestellung, kontoauszug*, vertrag,
        vertrages, *vertrag, kostenvoranschlag*, mahnung*, zahlungserinnerung*, zahlungsavis,
        zahlungsbestätigung*, buchungsbestätigung*, lastschrift*, honorarnote*,
        versicherungsschein*, *abrechnung, *abrechnungen
    """,
    french="""
        facture, factures, reçu, reçus, note de crédit, l'avoir, bon de commande, bon de livraison,
        preuve de livraison, votre relevé, relevé de compte, contrat, avenant, devis, note d'honoraires,
        ticket de caisse, tickets de caisse, note de frais, quittance, quittances, votre police,
        fiche de paie, bulletin de paie, justificatif, justificatifs, pièces comptables,
        confirmation de réservation, confirmation de commande, confirmation de paiement,
        avis de prélèvement
    """,
    spanish="""
        factura, facturas, facturae, recibo, recibos, tique, tiques, nota de abono, nota de crédito,
        nuevo pedido, orden de compra, albarán, albaranes, comprobante, comprobantes, su extracto,
        extracto de cuenta, contrato, minuta, honorarios, justificante, justificantes, póliza, nómina,
        recordatorio de pago, pago pendiente, confirmación de reserva, confirmación de pedido,
        confirmación de pago, carta de porte
    """,
)
"""What a document worth keeping is called, wherever it is named."""

DOCUMENT_NAMES: Final = Vocabulary.of(
    english="""
        bill, bills, billing, statement, statements, contract, contracts, agreement, quote, estimate,
        policy, expenses, order, orders
    """,
    german="""
        bestellung*, *bestellung, auftrag, angebot, spesen*, bescheid, *auszug, verträge, *verträge,
        police, kopie, unterlagen
    """,
    french="avoir, commande, relevé, relevés, contrats, relance, frais, police, à payer",
    spanish="""
        abono, pedido, pedidos, extracto, extractos, contratos, presupuesto, gastos, a pagar
    """,
)
"""What one is called in a subject or a file's name; in a text these words mean other things as well."""

SCANS: Final = Vocabulary.of(
    english="scan, scans, scanned, document, documents",
    german="gescannt, dokument, dokumente",
    french="numérisation, pièce, pièces",
    spanish="escaneo, escaneado, documento, documentos",
)
"""What a scan is called in a file's name."""

DOCUMENT_CODES: Final = frozenset(
    listed(
        """
        ab, av, bc, be, bl, cn, fa, fac, fact, fc, fra, fv, gs, inv, ls, oa, oc, po, pod, re, rg, rn
        """
    )
)
"""Abbreviations that stand before a number in a document's file name."""

ELECTRONIC_INVOICES: Final = Vocabulary.of(
    names="""
        factur-x, zugferd*, xrechnung*, ebinterface, facturae, fatturapa, ubl, peppol, cii, xinvoice,
        einvoice, e-invoice, e-rechnung, e-factura, e-facture
    """
)

PAPERS: Final = Vocabulary.of(
    english="""
        document*, file, files, form, forms, letter, attach*, enclosed, download*, log in, sign in, portal,
        account, order*, deliver*, price, prices, pay*, paid, fee, fees, charge*, refund*, terms, notice,
        deadline, due, policy, report*, certificate*, membership, recall*, important
    """,
    german="""
        dokument*, datei*, formular*, brief, schreiben, anhang, anlage*, beiliegend, herunterladen,
        einloggen, portal, kundenbereich, konto, *konto, bestell*, liefer*, preis, preise, zahl*, bezahl*,
        gebühr*, beitrag, erstatt*, bedingungen, frist, *frist, fällig, bericht*, bescheinigung*,
        mitglied*, rückruf*, wichtig*, kündig*
    """,
    french="""
        document*, fichier*, formulaire*, courrier, lettre, ci-joint*, joint, jointe, pièce, télécharg*,
        connectez-vous, espace client, compte, commande*, livr*, prix, tarif*, pay*, frais, rembours*,
        conditions, préavis, échéance, délai, rapport*, attestation*, adhésion, membre, rappel*, important*,
        résili*, cotisation
    """,
    spanish="""
        documento*, fichero*, archivo*, formulario*, carta, adjunt*, descarg*, acceda, área de cliente,
        cuenta, pedido*, entreg*, precio*, pag*, cuota*, tarifa*, reembols*, abon*, condiciones, plazo,
        vence, vencimiento, informe*, certificado*, socio, retirada, importante*, baja del contrato
    """,
)
"""What a text speaks of that may have to do with a document; too common to count as one."""

COMMON: Final = (
    Vocabulary.of(english="the, and, you, your, with, our, this, that, from, for, are, have"),
    Vocabulary.of(german="und, nicht, sie, mit, für, auch, ist, ihre, ihr, wir, auf, das, dein, du, zu, ein"),
    Vocabulary.of(french="vous, nous, les, des, est, pour, votre, notre, avec, une, vos, dans, qui, sur"),
    Vocabulary.of(spanish="el, los, las, una, con, más, que, su, sus, por, es, tu, nuestra, nuestro, y"),
)
"""Words that every longer text in a language has, by which we know that we can read it."""

MARKETING: Final = Vocabulary.of(
    english="""
        newsletter*, webinar*, promo*, discount, discounts, sale, special offer, special offers,
        limited offer, limited time, off everything, shop now, buy now, free shipping, free delivery,
        coupon, voucher code, gift card, survey, your opinion matters, how did we do, rate us,
        discover our, introducing, save the date, trade fair, register now, sign up now,
        we are pleased to announce, new collection, catalogue, catalog, brochure, data sheet, datasheet,
        black friday, early bird, free trial, months free, last chance, upgrade today, upgrade now,
        case study, whitepaper, white paper, ebook, view in browser, view this email in your browser,
        download our app, meet us at, visit us at, book a demo
    """,
    german="""
        rabatt*, gutschein*, sonderangebot*, jetzt kaufen, jetzt einkaufen, jetzt bestellen,
        jetzt sichern, jetzt anmelden, versandkostenfrei, gratisversand, umfrage*, ihre meinung,
        entdecken sie, neuheiten, neue kollektion, katalog*, broschüre*, prospekt*, datenblatt*,
        auf der messe, fachmesse, nur heute, nur für kurze zeit, letzte chance, im browser ansehen,
        gewinnspiel*, schnäppchen, frühbucher*, kostenlos testen, monate gratis, rundschreiben
    """,
    french="""
        infolettre, webinaire*, promotion*, soldes, code promo, offre spéciale, offre limitée,
        offres spéciales, offres de lancement, livraison gratuite, j'en profite, profitez, enquête,
        votre avis, découvrez, nouveautés, nouvelle collection, plaquette, fiche technique, au salon,
        salon professionnel, inscrivez-vous, dernière chance, carte cadeau, voir dans le navigateur,
        version en ligne, réservez la date, essai gratuit, mois gratuits, vente flash, bons plans,
        jeu-concours, livre blanc
    """,
    spanish="""
        boletín*, seminario web, descuento*, rebajas, oferta especial, oferta limitada, ofertas,
        código promocional, envío gratis, compre ahora, compra ya, encuesta*, su opinión, tu opinión,
        descubra, descubre, novedades, nueva colección, catálogo*, folleto*, ficha técnica, en la feria,
        inscríbase, apúntese, última oportunidad, solo hoy, tarjeta regalo, ver en el navegador,
        reserve la fecha, prueba gratuita, meses gratis, sorteo, libro blanco, qué le ha parecido,
        nos complace presentarle
    """,
)
"""What a campaign says and an invoice rarely does."""

SOCIAL: Final = Vocabulary.of(
    english="""
        wants to connect, connect with you, commented on your post, liked your post, mentioned you,
        new follower, friend request, view profile, tagged you, shared a post, endorsed you,
        started following you
    """,
    german="""
        mit ihnen vernetzen, mit dir vernetzen, beitrag kommentiert, hat dich erwähnt,
        freundschaftsanfrage, profil ansehen, folgt dir jetzt, gefällt dein beitrag
    """,
    french="""
        rejoindre votre réseau, a commenté votre, a aimé votre, vous a mentionné, demande d'ami,
        voir le profil
    """,
    spanish="""
        quiere conectar, comentó tu, le gusta tu, te ha mencionado, solicitud de amistad, ver perfil,
        ha empezado a seguirte
    """,
)

SOCIAL_NETWORKS: Final = frozenset(
    listed(
        """
        bsky, facebook, facebookmail, instagram, linkedin, mastodon, meetup, nextdoor, pinterest,
        reddit, redditmail, snapchat, threads, tiktok, twitter, x, xing, youtube
        """
    )
)
"""Their domains' names, without the ending."""

NOTIFICATIONS: Final = Vocabulary.of(
    english="""
        verification code, security code, login code, one time password, password reset,
        reset your password, new sign in, run failed, build failed, pull request, workflow
    """,
    german="""
        bestätigungscode, sicherheitscode, passwort zurücksetzen, neue anmeldung, lauf fehlgeschlagen
    """,
    french="""
        code de vérification, code de sécurité, réinitialiser votre mot de passe, nouvelle connexion,
        échec de l'exécution
    """,
    spanish="""
        código de verificación, código de seguridad, restablecer la contraseña,
        nuevo inicio de sesión, error en la ejecución
    """,
)

UNSUBSCRIBE: Final = Vocabulary.of(
    english="unsubscribe*, email preferences, stop receiving, opt out, manage preferences",
    german="abbestellen, abmelden, austragen, keine e-mails mehr, keine rundschreiben mehr",
    french="désabonner, désinscrire, ne plus recevoir",
    spanish="""
        darse de baja, darte de baja, cancelar la suscripción, cancelar suscripción, no desea recibir
    """,
)

AUTO_REPLIES: Final = listed(
    """
    automatic reply, auto reply, autoreply, autoresponse, out of office, out of the office, on vacation,
    automatische antwort, abwesenheitsnotiz, abwesend, abwesenheit, nicht im büro,
    réponse automatique, absence du bureau, absent du bureau, message d'absence,
    respuesta automática, fuera de la oficina, ausencia temporal, mensaje de ausencia
    """
)
"""How the subject of an automatic reply begins."""

FORWARDED: Final = listed("fw, fwd, wg, tr, rv")
"""How the subject of a forwarded mail begins."""

AUTOMATIC_SENDERS: Final = (
    *("noreply", "no-reply", "no_reply", "no.reply", "donotreply", "do-not-reply", "do_not_reply"),
    *("nepasrepondre", "ne-pas-repondre", "noresponder", "no-responder", "nichtantworten"),
    *("mailer", "notification", "newsletter", "news@", "robot", "bounce", "automailer"),
)
"""How the address of an automatic sender begins."""
